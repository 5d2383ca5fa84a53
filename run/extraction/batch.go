package extraction

import (
	"fmt"

	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/budget"
	"winnow/internal/text"
)

// UsualBatch is the default number of images per run of a network that is not trained, if memory allows. On a CPU,
// larger batches are not faster: the processor time per image of MobileNetV2, SqueezeNet and GoogLeNet differs by at
// most 10 % between batches of 8, 32 and 128, but a batch of 128 takes four times the memory.
const UsualBatch = 32

// gpuBatch is the largest automatic batch on a GPU, which small batches do not fill.
const gpuBatch = 256

// memoryShare is the divisor of the available memory that yields the memory of an automatic batch. The rest is for the
// weights, for other programs, and for the runtime, which took 1.1 times (MobileNetV2), 1.2 times (SqueezeNet) and 2.3
// times (GoogLeNet) the computed memory.
const memoryShare = 4

// settleBatch replaces an automatic batch by a number and notes it. An unfinished store keeps its batch.
func (e *Extraction) settleBatch(h Host, rt *ort.Runtime) {
	if e.Config.Batch > 0 {
		return
	}
	if begun, ok := features.BegunBatch(e.Out); ok && !e.Overwrite {
		e.Config.Batch = begun
		h.Note("batch auto: %d images, as in the unfinished store", begun)
		return
	}
	room, known := budget.Available()
	if e.Memory > 0 && (!known || e.Memory < room) {
		room, known = e.Memory, true
	}
	most, where := UsualBatch, "of memory are available"
	if rt.Device().CUDA {
		most, where = gpuBatch, "are allowed by --gpu-memory"
		room, known = h.GPUMemory, h.GPUMemory > 0
	}
	var why string
	e.Config.Batch, why = e.batchFor(room, known, most, where)
	if e.Memory == 0 { // otherwise the caller chose the memory
		h.Note("batch auto: %d images per run of the network: %s", e.Config.Batch, why)
	}
}

// batchFor returns the batch size that fits into its share of the available memory room, and the reason as text.
func (e *Extraction) batchFor(room int64, known bool, most int, where string) (int, string) {
	if fixed := e.Cut.Batch; fixed > 0 {
		return UsualBatch, fmt.Sprintf("the default; the model takes %d at a time", fixed)
	}
	if !known {
		return UsualBatch, "the default, as the available memory is unknown (set --gpu-memory or --batch)"
	}
	activations, err := e.Cut.Activations(e.Config.Preprocessing)
	if err != nil {
		return UsualBatch, fmt.Sprintf("the default, as the memory that one image needs is unknown (%v)", err)
	}
	n := e.Config.BatchWithin(room/memoryShare, activations, most)
	return n, fmt.Sprintf("they need about %s; %s %s", text.Approx(e.Config.BatchBytes(n, activations)),
		text.Approx(room), where)
}
