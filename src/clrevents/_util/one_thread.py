"""Imported before numpy by processes that only read traces: on import, numpy's linear algebra library starts threads.

None of them is ever used here, and starting them takes 50 to 100 ms. Changes the environment of its process, so the
library itself never imports it.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
