#compdef winnow
# Completes winnow's commands and flags in zsh, and files elsewhere. For every shell, add to ~/.zshrc after compinit:
#    source <(winnow completion zsh)
_winnow() {
	local -a asked=("${(@)words[1,CURRENT-1]}") found
	[[ $words[CURRENT] == -* ]] && asked+=("$words[CURRENT]")
	found=("${(@f)$("${(@)asked}" --generate-bash-completion 2>/dev/null)}")
	if [[ -n "$found[1]" ]]; then
		compadd -- "${(@)found}"
	else
		_files
	fi
}
compdef _winnow winnow
