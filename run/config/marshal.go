package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// Marshal writes the configuration as YAML, from which [Parse] reads the same configuration.
func Marshal(c Run) ([]byte, error) {
	return yaml.Marshal(convertToTree(reflect.ValueOf(c)))
}

// convertToTree converts a value to types of the YAML package that keep the order of the fields.
func convertToTree(v reflect.Value) any {
	if text, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := text.MarshalText()
		if err != nil {
			panic("config: " + err.Error()) // impossible: all types are winnow's own
		}
		return string(b)
	}
	if number, ok := v.Interface().(interface{ Given() (float64, bool) }); ok { // not given: a word such as auto
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
		settings := v.Interface().(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(settings)) {
			pairs = append(pairs, yaml.MapItem{Key: k, Value: settings[k]})
		}
		return pairs
	}
	return v.Interface()
}

// Flatten returns every value as text by its dotted key, to compare two configurations.
func Flatten(c Run) map[string]string {
	flat := map[string]string{}
	flattenTree(flat, "", convertToTree(reflect.ValueOf(c)))
	return flat
}

// LossList lists the losses of a flattened configuration, such as "contrastive against bank".
func LossList(flat map[string]string) string {
	var names []string
	for i := 0; flat[fmt.Sprintf("losses.%d.name", i)] != ""; i++ {
		key := fmt.Sprintf("losses.%d.", i)
		names = append(names, flat[key+"name"]+" against "+flat[key+"against"])
	}
	return strings.Join(names, ", ")
}

func flattenTree(flat map[string]string, path string, tree any) {
	switch tree := tree.(type) {
	case yaml.MapSlice:
		for _, item := range tree {
			flattenTree(flat, joinKeyPath(path, item.Key.(string)), item.Value)
		}
	case []any:
		for i, value := range tree {
			flattenTree(flat, joinKeyPath(path, strconv.Itoa(i)), value)
		}
	default:
		flat[path] = fmt.Sprint(tree)
	}
}

// eachField calls do for every key of a struct and its value. It includes the fields of inlined structs, except the
// fields that a hide tag names.
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
