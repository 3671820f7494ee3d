"""The profiler's settings that a user asks for, and the profiler's own judgement of them."""
