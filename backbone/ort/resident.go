package ort

import (
	"errors"
	"fmt"
	"slices"

	ortgo "github.com/yalue/onnxruntime_go"
)

// Resident is a session whose inputs and outputs stay in its device's memory between runs, by IoBinding. A
// tensor put there once can be used in many runs, and only fetched tensors come back. On the CPU the memory is
// the computer's, and the same calls compute the same. One goroutine at a time may use it; two Residents side
// by side compute on two streams of a GPU.
type Resident struct {
	session *Session
	memory  *memory
	binding *ortgo.IoBinding
	blocks  map[string]*block
	bound   map[string]bool
}

var errClosed = errors.New("ort: resident: the session is closed")

// NewResident loads a model onto the device. Inputs and outputs must be float32, float64 or int64 and not scalars.
func (r *Runtime) NewResident(model []byte, o SessionOptions) (_ *Resident, err error) {
	d := &Resident{blocks: map[string]*block{}, bound: map[string]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.session, err = r.NewSession(model, o); err != nil {
		return nil, err
	}
	if d.memory, err = newMemory(r.library, r.sessionDevice(o), d.session.run); err != nil {
		return nil, err
	}
	if d.binding, err = d.session.run.CreateIoBinding(); err != nil {
		return nil, fmt.Errorf("ort: resident: %w", err)
	}
	return d, nil
}

// Outputs describes the model's outputs.
func (d *Resident) Outputs() []Info { return d.session.outs }

// Put copies a tensor to the device and binds it to an input, for this run and later ones.
func (d *Resident) Put(input string, t Tensor) error {
	if d.session == nil {
		return errClosed
	}
	from, bytes, err := t.tensorMemory()
	if err != nil {
		return fmt.Errorf("ort: resident: input %q: %w", input, err)
	}
	b, err := d.roomFor(d.session.ins, input, t.Type(), t.Shape)
	if err != nil {
		return err
	}
	if err := d.memory.copy(b.p, from, bytes); err != nil {
		return err
	}
	return d.noteBound(input, d.binding.BindInput(input, b)) // the library may copy it, if it needs it elsewhere
}

// Take allocates an output on the device and binds it. The shape must be the one that the inputs lead to.
func (d *Resident) Take(output string, t ElementType, shape ...int64) error {
	if d.session == nil {
		return errClosed
	}
	b, err := d.roomFor(d.session.outs, output, t, shape)
	if err != nil {
		return err
	}
	return d.noteBound(output, d.binding.BindOutput(output, b))
}

// roomFor returns memory for a tensor and unbinds its name.
func (d *Resident) roomFor(infos []Info, name string, t ElementType, shape []int64) (*block, error) {
	info, err := chooseOutputs(infos, []string{name})
	if err != nil {
		return nil, err
	}
	if info[0].Type != t || len(shape) == 0 {
		return nil, fmt.Errorf("ort: resident: %q: found %v %v, expected %v with at least one size",
			name, t, shape, info[0].Type)
	}
	if d.blocks[name] == nil {
		d.blocks[name] = new(block)
	}
	d.bound[name] = false
	if err := d.blocks[name].hold(d.memory, t, shape); err != nil {
		return nil, fmt.Errorf("ort: resident: %q: %w", name, err)
	}
	return d.blocks[name], nil
}

// noteBound notes that a tensor is bound, unless binding failed.
func (d *Resident) noteBound(name string, err error) error {
	if err != nil {
		return fmt.Errorf("ort: resident: %q: %w", name, err)
	}
	d.bound[name] = true
	return nil
}

// Run computes the outputs from the inputs, all of which must be bound. It returns when the device has finished.
func (d *Resident) Run() (err error) {
	if d.session == nil {
		return errClosed
	}
	for _, list := range [][]Info{d.session.ins, d.session.outs} {
		for _, info := range list {
			if !d.bound[info.Name] {
				return fmt.Errorf("ort: resident: %q is not bound", info.Name)
			}
		}
	}
	run := func() { err = d.session.run.RunWithBinding(d.binding) }
	if d.session.firstCUDA {
		d.session.firstCUDA = false
		keepSignals(run)
	} else {
		run()
	}
	if err != nil {
		return fmt.Errorf("ort: resident: %w", briefly(err))
	}
	return nil
}

// Fetch copies a bound output or input into a tensor of the same type and shape.
func (d *Resident) Fetch(name string, into Tensor) error {
	b := d.blocks[name]
	if b == nil || b.value == nil {
		return fmt.Errorf("ort: resident: %q is not bound", name)
	}
	if t := into.Type(); t != b.typ || !slices.Equal(into.Shape, b.shape) {
		return fmt.Errorf("ort: resident: %q: found %v %v to fetch into, expected %v %v",
			name, t, into.Shape, b.typ, b.shape)
	}
	to, bytes, err := into.tensorMemory()
	if err != nil {
		return fmt.Errorf("ort: resident: %q: %w", name, err)
	}
	return d.memory.copy(to, b.p, bytes)
}

// Close frees the model and its memory on the device. Closing twice is not an error.
func (d *Resident) Close() error {
	var err error
	if d.binding != nil {
		err = d.binding.Destroy()
	}
	for _, b := range d.blocks {
		b.free()
	}
	if d.memory != nil {
		err = errors.Join(err, d.memory.close())
	}
	if d.session != nil {
		err = errors.Join(err, d.session.Close())
	}
	d.binding, d.blocks, d.memory, d.session = nil, nil, nil, nil
	return err
}
