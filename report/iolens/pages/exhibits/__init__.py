"""All exhibits by theme. Each exhibit is declared once in this folder."""
