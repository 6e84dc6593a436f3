"""ROOM 3: the second opinion. A layout becomes a construct codec: slow, symmetric, obviously right.

Shares only the declarations with the decoder, so that their agreement means something.
"""

from clrevents.reference.codec import Codec, codec

__all__ = ["Codec", "codec"]
