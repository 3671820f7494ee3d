/* Names of folders and files that are made from names which others chose: of users, programs and hosts. */
#ifndef IOLENS_PATH_COMPONENT_H
#define IOLENS_PATH_COMPONENT_H

#include <stddef.h>

/* Longest component in bytes. A log's name has several of them and numbers, and a file system allows 255
 * bytes for all. */
enum { COMPONENT_BYTES = 96 };

/* Writes `text` as a part of a file name: '/', characters that a terminal obeys and bytes that are not UTF-8
 * become '_', and so does a name that is empty or begins with '.', at that place. A longer name is cut
 * between two characters. `path_component` in report/iolens/foreign.py does the same. */
void path_component(char out[COMPONENT_BYTES], const char *text);

#endif
