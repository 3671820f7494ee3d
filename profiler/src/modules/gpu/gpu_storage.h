/* The table `gpu_storage`: transfers between storage and GPUs, which NVIDIA's cuFile and AMD's hipFile count
 * themselves. */
#ifndef IOLENS_GPU_STORAGE_H
#define IOLENS_GPU_STORAGE_H

/* Called where a program may begin to use such a library. If one is loaded, arranges to ask it early at exit:
 * a library that was loaded late takes itself apart before this one ends. */
void gpu_storage_look(void);

#endif
