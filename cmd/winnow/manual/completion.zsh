#compdef winnow
# Completion of winnow for zsh. For this shell: source <(winnow completion zsh)
# For all: winnow completion zsh > "${fpath[1]}/_winnow"
_winnow() {
    local -a found
    local line files folders text
    for line in "${(@f)$("${words[1]/#\~/$HOME}" __complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
        case $line in
            '') ;;
            :files) files=yes ;;
            :folders) folders=yes ;;
            *)
                text=${${line%%$'\t'*}//:/\\:}
                [[ $line == *$'\t'* ]] && text+=":${line#*$'\t'}"
                found+=("$text")
                ;;
        esac
    done
    local ret=1
    (( $#found )) && _describe -V winnow found && ret=0
    if [[ -n $files$folders ]]; then
        compset -P '--*='
        if [[ -n $files ]]; then
            _files && ret=0
        else
            _files -/ && ret=0
        fi
    fi
    return ret
}
if [[ $funcstack[1] == _winnow ]]; then # loaded from fpath, by the first completion
    _winnow "$@"
else
    compdef _winnow winnow
fi
