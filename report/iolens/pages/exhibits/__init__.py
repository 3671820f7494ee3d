"""What there is to show, by theme: each exhibit is declared once, here."""
