#ifndef IOLENS_VERSION_H
#define IOLENS_VERSION_H

#define IOLENS_VERSION "0.1.0"

#endif
