/* The table `gpu_storage`: transfers between storage and GPUs, which NVIDIA's cuFile and AMD's hipFile count
 * themselves. */
#ifndef IOLENS_GPU_STORAGE_H
#define IOLENS_GPU_STORAGE_H

/* Called where a program may begin to use one of these libraries. If one is loaded, arranges to ask it
 * early at exit, because a library that was loaded late is finalised before this one ends. */
void gpu_storage_look(void);

#endif
