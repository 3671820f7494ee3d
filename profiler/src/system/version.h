#ifndef IOLENS_VERSION_H
#define IOLENS_VERSION_H

#define IOLENS_VERSION "0.2.0"

#endif
