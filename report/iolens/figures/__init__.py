"""One file, one function, one figure: frames in, matplotlib figure out."""
