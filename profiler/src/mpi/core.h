/* The core's functions, as seen from an adapter: without the core in the preload chain they stay undefined,
 * and the adapter steps aside. */
#ifndef IOLENS_CORE_H
#define IOLENS_CORE_H

#include "../adapter.h"

#pragma weak iolens_adapter_attach
#pragma weak iolens_pause
#pragma weak iolens_parallel_start
#pragma weak iolens_parallel_finish
#pragma weak iolens_recording
#pragma weak iolens_now
#pragma weak iolens_mpiio_open
#pragma weak iolens_mpiio_transfer
#pragma weak iolens_mpiio_traced
#pragma weak iolens_mpiio_view
#pragma weak iolens_mpiio_sync
#pragma weak iolens_mpiio_close
#pragma weak iolens_mpiio_component
#pragma weak iolens_mpiio_other
#pragma weak iolens_mpiio_other_path
#pragma weak iolens_mpiio_hint

#endif
