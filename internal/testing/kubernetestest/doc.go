// Package kubernetestest checks what winnow cluster kubernetes prints against Kubernetes' own types. It is a
// separate module, so that winnow does not depend on them. Run it with make kubernetes.
package kubernetestest
