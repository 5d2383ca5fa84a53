package extraction

import (
	"fmt"

	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/budget"
	"winnow/internal/text"
)

// UsualBatch is the default number of images per run of a network that is not trained, if memory allows. On a CPU
// larger batches gain nothing: MobileNetV2, SqueezeNet and GoogLeNet take the same processor time per image, within a
// tenth, at 8, 32 and 128, and four times the memory at 128.
const UsualBatch = 32

// gpuBatch is the largest batch that auto chooses on a GPU, which small batches leave idle.
const gpuBatch = 256

// memoryShare: auto gives a batch 1/memoryShare of the available memory. The rest is for the weights, other programs,
// and the runtime, which took 1.1 (MobileNetV2), 1.2 (SqueezeNet) and 2.3 times (GoogLeNet) what is counted.
const memoryShare = 4

// settleBatch replaces an automatic batch by a number and notes it. A store that was begun keeps its batch.
func (e *Extraction) settleBatch(h Host, rt *ort.Runtime) {
	if e.Config.Batch > 0 {
		return
	}
	if begun, ok := features.BegunBatch(e.Out); ok && !e.Overwrite {
		e.Config.Batch = begun
		h.Note("batch auto: %d images, as the store was begun", begun)
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

// batchFor returns the batch that fits into its share of the memory, and the reason.
func (e *Extraction) batchFor(room int64, known bool, most int, where string) (int, string) {
	if fixed := e.Cut.Batch; fixed > 0 {
		return UsualBatch, fmt.Sprintf("the usual number; the model takes %d at a time", fixed)
	}
	if !known {
		return UsualBatch, "the usual number, as the available memory is unknown (set --gpu-memory or --batch)"
	}
	activations, err := e.Cut.Activations(e.Config.Preprocessing)
	if err != nil {
		return UsualBatch, fmt.Sprintf("the usual number, as the memory that one image needs is unknown (%v)", err)
	}
	n := e.Config.BatchWithin(room/memoryShare, activations, most)
	return n, fmt.Sprintf("they need about %s; %s %s", text.Approx(e.Config.BatchBytes(n, activations)),
		text.Approx(room), where)
}
