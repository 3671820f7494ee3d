"""Numbers of functions whose every call was traced."""
