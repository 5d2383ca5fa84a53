// Package kubernetestest holds what winnow cluster kubernetes prints to Kubernetes' own types. It is a module of its own, so that winnow
// does not depend on them: make kubernetes tests it.
package kubernetestest
