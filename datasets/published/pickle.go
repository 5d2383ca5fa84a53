package published

import (
	"bytes"
	"errors"
	"fmt"
)

// pickle runs a pickle, which is a program for a small stack machine. This one runs what Python writes for
// dictionaries, lists, texts, numbers and numpy's arrays of integers. It calls nothing: the four functions it knows
// are implemented here, any other is an error. After the first error, err, operations take and return zero values.
//
// Source: Python's pickletools, protocols 2 to 5; numpy's ndarray.__reduce__.
type pickle struct {
	data  []byte
	at    int
	stack []any
	marks []int
	memo  map[int]any
	spent int // bytes allocated, at most maxLabelFile
	err   error
}

// Values of a pickle besides nil, bool, int, string and []byte.
type (
	pickleTuple  []any
	pickleList   struct{ items []any }
	pickleDict   struct{ keys, values []any }
	pickleGlobal string // module.name
	pickleDType  struct{ name, order string }
	pickleArray  struct {
		shape []int
		kind  string // numpy's name, such as "<i8" or "|O"
		data  []byte
		items []any // of an array of objects
	}
)

// opSize is what an operation may allocate besides texts: a value and its entries on the stack, in a container and
// in the memo.
const opSize = 64

// loadPickle runs the pickle that begins at p.at to its end and returns its result.
func (p *pickle) loadPickle() (any, error) {
	p.stack, p.marks, p.memo = nil, nil, make(map[int]any)
	for p.err == nil {
		op := p.readNumber(1)
		if op == '.' {
			v := p.popValue()
			return v, p.err
		}
		if p.spendBytes(opSize); p.err == nil {
			p.runOp(byte(op))
		}
	}
	return nil, p.err
}

// fail records the first error.
func (p *pickle) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("pickle "+format, args...)
	}
}

// spendBytes counts bytes to be allocated.
func (p *pickle) spendBytes(n int) {
	if p.spent += n; p.spent > maxLabelFile {
		p.fail("makes more than %d bytes", maxLabelFile)
	}
}

// readBytes returns the next n bytes.
func (p *pickle) readBytes(n int) []byte {
	if n < 0 || n > len(p.data)-p.at {
		p.fail("is cut short")
	}
	if p.err != nil {
		return nil
	}
	p.at += n
	return p.data[p.at-n : p.at]
}

// readNumber reads a little-endian number of n bytes.
func (p *pickle) readNumber(n int) int {
	v := lowFirst(p.readBytes(n), false)
	if v > 1<<62 {
		p.fail("holds the number %d, which is too large", v)
		return 0
	}
	return int(v)
}

// readLine returns the next line.
func (p *pickle) readLine() string {
	line := p.readBytes(bytes.IndexByte(p.data[p.at:], '\n') + 1)
	if p.err == nil && len(line) == 0 {
		p.fail("is cut short")
	}
	return string(bytes.TrimSuffix(line, []byte("\n")))
}

func (p *pickle) pushValue(v any) { p.stack = append(p.stack, v) }

// popValue takes the top value, which must be above the last mark.
func (p *pickle) popValue() any { return p.popMany(1)[0] }

// popMany takes n values, which must be above the last mark.
func (p *pickle) popMany(n int) []any {
	floor := 0
	if len(p.marks) > 0 {
		floor = p.marks[len(p.marks)-1]
	}
	if len(p.stack)-n < floor {
		p.fail("takes a value that does not exist")
		return make([]any, n)
	}
	items := append([]any(nil), p.stack[len(p.stack)-n:]...)
	p.stack = p.stack[:len(p.stack)-n]
	return items
}

// popMark takes all values above the last mark, and the mark.
func (p *pickle) popMark() []any {
	if len(p.marks) == 0 {
		p.fail("takes a mark that does not exist")
		return nil
	}
	items := p.popMany(len(p.stack) - p.marks[len(p.marks)-1])
	p.marks = p.marks[:len(p.marks)-1]
	return items
}

// keepTop stores the top value in the memo.
func (p *pickle) keepTop(key int) {
	v := p.popValue()
	p.pushValue(v)
	p.memo[key] = v
}

// runOp runs one operation. The names in comments are pickletools'.
func (p *pickle) runOp(op byte) {
	switch op {
	case 0x80: // PROTO
		p.readBytes(1)
	case 0x95: // FRAME
		p.readBytes(8)
	case '(': // MARK
		p.marks = append(p.marks, len(p.stack))
	case 'N': // NONE
		p.pushValue(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		p.pushValue(op == 0x88)
	case '}': // EMPTY_DICT
		p.pushValue(&pickleDict{})
	case ']': // EMPTY_LIST
		p.pushValue(&pickleList{})
	case 'q': // BINPUT
		p.keepTop(p.readNumber(1))
	case 'r': // LONG_BINPUT
		p.keepTop(p.readNumber(4))
	case 0x94: // MEMOIZE
		p.keepTop(len(p.memo))
	case 'h', 'j': // BINGET, LONG_BINGET
		key := p.readNumber(map[byte]int{'h': 1, 'j': 4}[op])
		v, ok := p.memo[key]
		if !ok {
			p.fail("takes memo %d, which is not set", key)
		}
		p.pushValue(v)
	case 'K', 'M', 'J': // BININT1, BININT2, BININT
		b := p.readBytes(map[byte]int{'K': 1, 'M': 2, 'J': 4}[op])
		p.pushValue(int(int64(lowFirst(b, op == 'J'))))
	case 0x8a: // LONG1
		b := p.readBytes(p.readNumber(1))
		if len(b) > 8 {
			b = nil // only PyTorch's magic number, which is not used
		}
		p.pushValue(int(int64(lowFirst(b, true))))
	case 'X', 0x8c: // BINUNICODE, SHORT_BINUNICODE
		b := p.readBytes(p.readNumber(map[byte]int{'X': 4, 0x8c: 1}[op]))
		p.spendBytes(len(b))
		p.pushValue(string(b))
	case 'B', 'C': // BINBYTES, SHORT_BINBYTES
		p.pushValue(p.readBytes(p.readNumber(map[byte]int{'B': 4, 'C': 1}[op])))
	case ')', 0x85, 0x86, 0x87: // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3
		p.pushValue(pickleTuple(p.popMany(map[byte]int{0x85: 1, 0x86: 2, 0x87: 3}[op])))
	case 't': // TUPLE
		p.pushValue(pickleTuple(p.popMark()))
	case 's': // SETITEM
		p.fillContainer(p.popMany(2), true)
	case 'u': // SETITEMS
		p.fillContainer(p.popMark(), true)
	case 'a': // APPEND
		p.fillContainer(p.popMany(1), false)
	case 'e': // APPENDS
		p.fillContainer(p.popMark(), false)
	case 'c': // GLOBAL
		p.pushName(p.readLine(), p.readLine())
	case 0x93: // STACK_GLOBAL
		words := p.popMany(2)
		p.pushName(words[0], words[1])
	case 'R': // REDUCE
		pair := p.popMany(2)
		args, _ := pair[1].(pickleTuple)
		p.callFunction(pair[0], args)
	case 'b': // BUILD
		pair := p.popMany(2)
		state, _ := pair[1].(pickleTuple)
		p.buildState(pair[0], state)
	default:
		p.fail("holds the operation %q, expected only dictionaries, texts and numpy's arrays", op)
	}
}

// fillContainer adds values to the dictionary or list below them.
func (p *pickle) fillContainer(items []any, pairs bool) {
	into := p.popValue()
	p.pushValue(into)
	dict, isDict := into.(*pickleDict)
	list, isList := into.(*pickleList)
	switch {
	case isDict && pairs && len(items)%2 == 0:
		for i := 0; i < len(items); i += 2 {
			dict.keys, dict.values = append(dict.keys, items[i]), append(dict.values, items[i+1])
		}
	case isList && !pairs:
		list.items = append(list.items, items...)
	default:
		p.fail("fills a %T", into)
	}
}

// pushName pushes the name of a Python function or class.
func (p *pickle) pushName(module, name any) {
	m, isText := module.(string)
	n, also := name.(string)
	if !isText || !also || len(m)+len(n) > 200 {
		p.fail("names a function by %T and %T, expected short texts", module, name)
	}
	p.pushValue(pickleGlobal(m + "." + n))
}

// callFunction implements the few functions that arrays need.
func (p *pickle) callFunction(function any, args pickleTuple) {
	first := any(nil)
	if len(args) > 0 {
		first = args[0]
	}
	text, isText := first.(string)
	switch name, _ := function.(pickleGlobal); {
	case name == "numpy.core.multiarray._reconstruct", name == "numpy._core.multiarray._reconstruct":
		p.pushValue(&pickleArray{})
	case name == "collections.OrderedDict" && len(args) == 0:
		p.pushValue(&pickleDict{})
	case name == "numpy.dtype" && isText:
		p.pushValue(&pickleDType{name: text, order: "|"})
	case name == "_codecs.encode" && isText && len(args) == 2 && args[1] == "latin1": // protocol 2 writes bytes as text
		p.spendBytes(len(text))
		b := make([]byte, 0, len(text))
		for _, r := range text {
			if r > 0xff {
				p.fail("holds the character %q among bytes", r)
			}
			b = append(b, byte(r))
		}
		p.pushValue(b)
	case name != "":
		p.fail("calls %s, expected only numpy's arrays", name)
	default: // without its text, which may be large
		p.fail("calls a %T, expected only numpy's arrays", function)
	}
}

// buildState sets the state of an array or a type: (version, shape, type, Fortran order, elements) or (version, byte
// order, …).
func (p *pickle) buildState(of any, state pickleTuple) {
	var err error
	switch v := of.(type) {
	case *pickleDType:
		if len(state) >= 2 {
			if order, ok := state[1].(string); ok {
				v.order = order
				p.pushValue(v)
				return
			}
		}
	case *pickleArray:
		if err = v.setState(state); err == nil {
			p.pushValue(v)
			return
		}
	}
	p.fail("builds a %T of %d values, expected an array: %v", of, len(state), err)
}

// setState sets shape, type and elements of an array.
func (v *pickleArray) setState(state pickleTuple) error {
	if len(state) != 5 {
		return errors.New("expected 5 values")
	}
	shape, isTuple := state[1].(pickleTuple)
	kind, isType := state[2].(*pickleDType)
	if !isTuple || !isType {
		return fmt.Errorf("found a %T and a %T, expected a shape and a type", state[1], state[2])
	}
	v.shape = nil
	for _, n := range shape {
		size, ok := n.(int)
		if !ok || size < 0 {
			return fmt.Errorf("found a size that is a %T, expected numbers from 0", n)
		}
		v.shape = append(v.shape, size)
	}
	v.kind = kind.order + kind.name
	switch e := state[4].(type) {
	case []byte:
		v.data = e
	case *pickleList:
		v.items = e.items
	default:
		return fmt.Errorf("found elements in a %T", e)
	}
	return nil
}
