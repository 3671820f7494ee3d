/* The table `gpu_storage`: transfers between storage and GPUs, which NVIDIA's cuFile and AMD's hipFile count
 * themselves. */
#ifndef IOLENS_GPU_STORAGE_H
#define IOLENS_GPU_STORAGE_H

/* Must be called where a program may begin to use one of these libraries. If one is loaded, registers an exit
 * handler that asks it for its counts early, because a library that was loaded late is finalised before this
 * one ends. */
void gpu_storage_look(void);

#endif
