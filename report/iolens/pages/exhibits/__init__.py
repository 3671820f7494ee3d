"""All exhibits by theme: each exhibit is declared once, here."""
