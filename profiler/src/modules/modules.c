#include "../records/module.h"

#define MODULE(name) extern const struct module module_##name;
#include "../modules.def"
#undef MODULE

const struct module *const modules[MODULE_COUNT] = {
#define MODULE(name) &module_##name,
#include "../modules.def"
#undef MODULE
};
