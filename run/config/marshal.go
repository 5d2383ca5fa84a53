package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Marshal writes the configuration as YAML that [Parse] reads back to the same.
func Marshal(c Run) ([]byte, error) {
	return yaml.Marshal(convertToTree(reflect.ValueOf(c)))
}

// convertToTree returns a value as the YAML package takes it, in the order of the fields.
func convertToTree(v reflect.Value) any {
	if text, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := text.MarshalText()
		if err != nil {
			panic("config: " + err.Error()) // our own types: cannot happen
		}
		return string(b)
	}
	if number, ok := v.Interface().(interface{ Given() (float64, bool) }); ok { // else a word such as auto
		if value, given := number.Given(); given {
			return value
		}
		return fmt.Sprint(number)
	}
	switch v.Kind() {
	case reflect.Struct:
		var pairs yaml.MapSlice
		eachField(v, func(key string, field reflect.Value) {
			pairs = append(pairs, yaml.MapItem{Key: key, Value: convertToTree(field)})
		})
		return pairs
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = convertToTree(v.Index(i))
		}
		return list
	case reflect.Map:
		pairs := yaml.MapSlice{}
		for _, k := range sortedKeys(v) {
			pairs = append(pairs, yaml.MapItem{Key: k, Value: v.MapIndex(reflect.ValueOf(k)).Interface()})
		}
		return pairs
	}
	return v.Interface()
}

// Flatten returns every value as text, by its dotted key: what two equal runs have in common.
func Flatten(c Run) map[string]string {
	flat := map[string]string{}
	flattenValue(flat, "", reflect.ValueOf(c))
	return flat
}

// LossList names the losses of a flattened run, each with what it is computed against.
func LossList(flat map[string]string) string {
	var names []string
	for i := 0; flat[fmt.Sprintf("losses.%d.name", i)] != ""; i++ {
		key := fmt.Sprintf("losses.%d.", i)
		names = append(names, flat[key+"name"]+" against "+flat[key+"against"])
	}
	return strings.Join(names, ", ")
}

func flattenValue(flat map[string]string, path string, v reflect.Value) {
	if text, ok := v.Interface().(fmt.Stringer); ok {
		flat[path] = text.String()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		eachField(v, func(key string, field reflect.Value) { flattenValue(flat, joinKeyPath(path, key), field) })
	case reflect.Slice:
		for i := range v.Len() {
			flattenValue(flat, joinKeyPath(path, strconv.Itoa(i)), v.Index(i))
		}
	case reflect.Map:
		for _, k := range sortedKeys(v) {
			flat[joinKeyPath(path, k)] = fmt.Sprint(v.MapIndex(reflect.ValueOf(k)).Interface())
		}
	default:
		flat[path] = fmt.Sprint(v.Interface())
	}
}

func sortedKeys(m reflect.Value) []string {
	var keys []string
	for _, k := range m.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return keys
}

// eachField calls do for every key of a struct and its value. The fields of an inlined struct count as the struct's
// own, except those in its hide tag.
func eachField(v reflect.Value, do func(key string, field reflect.Value)) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if options == "inline" {
			hidden := strings.Fields(f.Tag.Get("hide"))
			eachField(v.Field(i), func(key string, field reflect.Value) {
				if !slices.Contains(hidden, key) {
					do(key, field)
				}
			})
			continue
		}
		if name != "" && name != "-" && f.IsExported() {
			do(name, v.Field(i))
		}
	}
}

// fieldOf returns the field of a struct that a key names.
func fieldOf(v reflect.Value, key string) (found reflect.Value, ok bool) {
	eachField(v, func(name string, field reflect.Value) {
		if name == key {
			found, ok = field, true
		}
	})
	return found, ok
}
