# Completion of winnow for fish. For this shell: winnow completion fish | source
# For all: winnow completion fish > ~/.config/fish/completions/winnow.fish
function __winnow_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program __complete $words "$current" 2>/dev/null)
        switch $line
            case :files
                __winnow_paths "$current" __fish_complete_path
            case :folders
                __winnow_paths "$current" __fish_complete_directories
            case '*'
                echo $line
        end
    end
end
# The paths that a word may become, --flag= standing before them.
function __winnow_paths
    set -l parts (string match -r '^(--[^=]*=)?(.*)$' -- $argv[1])
    set -l before ''
    set -l path $parts[-1]
    if string match -q -- '--*=*' $argv[1]
        set before $parts[2]
    end
    for each in ($argv[2] "$path" '')
        echo $before$each
    end
end
complete -c winnow -f -a '(__winnow_complete)'
