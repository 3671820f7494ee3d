/* The documentation of the tables of private regions, from their rows. */
#ifndef IOLENS_DESCRIBE_H
#define IOLENS_DESCRIBE_H

/* Print it in Markdown: the text of TABLES.md. Returns an exit code. */
int describe_tables(void);

#endif
