class Boxes: pass
class Buffers: pass
