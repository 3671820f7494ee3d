/* What tells a rank's program from those of other ranks: its name, and of an interpreter what it runs. */
#ifndef IOLENS_PROGRAM_LABEL_H
#define IOLENS_PROGRAM_LABEL_H

#include "identity.h"

/* "ocean", "python train.py", "python -m train": without folders; a longer one is cut. */
void program_label(const struct identity *identity, char label[PROGRAM_BYTES]);

#endif
