"""The one kind of error that a user sees: it says what was wrong, where, and what to do."""


class IolensError(Exception):
    """A failure with a message for the user; `exit_code` 1 for a failure, 2 for wrong usage."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(IolensError):
    """Wrong options or input that the user can correct; exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=2)


def short_reason(error: IolensError | OSError) -> str:
    """Returns an error's message without the number and the paths that Python adds to errors of the system."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
