/* HDF5 settings that the user gives from outside (IOLENS_HDF5), and their table in the log. */
#ifndef IOLENS_HDF5_SETTINGS_H
#define IOLENS_HDF5_SETTINGS_H

#include "../../runtime/wrap.h"
#include "hdf5_api.h"

/* The settings in force, in the form of runtime/given.c; NULL: there are none. Ranks of a job have those of
 * rank 0. */
extern const char *iolens_hdf5_given;

/* Returns the list to open the file `path` with: `access` itself, or a copy with the settings for this path,
 * which hdf5_after_open closes. */
hid_t hdf5_given_access(struct call *c, const char *path, hid_t access);

/* Records the settings with which `file` was opened. A negative `file` means that opening it failed. */
void hdf5_after_open(const struct call *c, hid_t file);

#endif
