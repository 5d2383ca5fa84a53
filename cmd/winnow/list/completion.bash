# Completes winnow's commands and flags in bash, and file names elsewhere. To load it in every shell, add to ~/.bashrc:
#    source <(winnow completion bash)
_winnow() {
	local word=${COMP_WORDS[COMP_CWORD]} asked=("${COMP_WORDS[@]:0:COMP_CWORD}")
	[[ $word == -* ]] && asked+=("$word")
	mapfile -t COMPREPLY < <(compgen -W "$("${asked[@]}" --generate-bash-completion 2>/dev/null)" -- "$word")
}
complete -o bashdefault -o default -F _winnow winnow
