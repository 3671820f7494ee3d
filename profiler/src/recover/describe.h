/* The documentation of the tables of private regions, made from their rows. */
#ifndef IOLENS_DESCRIBE_H
#define IOLENS_DESCRIBE_H

/* Prints the text of TABLES.md in Markdown. Returns an exit code. */
int describe_tables(void);

#endif
