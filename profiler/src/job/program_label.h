/* The label that distinguishes a rank's program from those of other ranks: its name and, for an
 * interpreter, the script. */
#ifndef IOLENS_PROGRAM_LABEL_H
#define IOLENS_PROGRAM_LABEL_H

#include "identity.h"

/* Writes a label such as "ocean", "python train.py" or "python -m train", without folders; a longer label
 * is cut. */
void program_label(const struct identity *identity, char label[PROGRAM_BYTES]);

#endif
