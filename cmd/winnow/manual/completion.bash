# Completion of winnow for bash. For this shell: source <(winnow completion bash)
# For all: winnow completion bash > ~/.local/share/bash-completion/completions/winnow
_winnow() {
    # readline parts words at = and :, which belong to --flag=value and name:bank
    local words=() i word glued= raw
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && [[ $glued || $word == [=:]* ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        glued=
        [[ $word == [=:] ]] && glued=yes
    done
    raw=${COMP_WORDS[COMP_CWORD]}
    [[ $raw == [=:] ]] && raw=
    local current=${words[${#words[@]} - 1]} line dirs= files=
    local before=${current%"$raw"} # what readline will not replace
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files) files=yes ;;
        :folders) dirs=yes ;;
        *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$before"}")
            ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null)
    if [[ $files$dirs ]]; then
        compopt -o filenames 2>/dev/null
        local kind=-f
        [[ $files ]] || kind=-d
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen "$kind" -- "$raw")
    fi
}
complete -F _winnow winnow
