export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/**
 * The completion script of a shell, which calls `shopstead complete -- WORDS`, or a wrapper of another name. It passes
 * the words as they were typed and does not evaluate them. It needs only the shell, not bash-completion.
 */
export function completionScript(shell: Shell, command: string): string {
  return scripts[shell].replaceAll('shopstead', command)
}

const scripts: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for shopstead
_shopstead() {
  local line files=''
  local current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :0) files=yes ;;
      :*) ;;
      "$current"*) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(shopstead complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  fi
}
complete -F _shopstead shopstead
`,
  zsh: `#compdef shopstead
# zsh completion for shopstead
_shopstead() {
  local line files='' tab=$'\\t'
  local -a described
  for line in "\${(@f)$(shopstead complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
      :0) files=yes ;;
      :*|'') ;;
      *) described+=("\${\${line%%$tab*}//:/\\\\:}:\${line#*$tab}") ;;
    esac
  done
  (( $#described )) && _describe 'shopstead' described
  [[ -n "$files" ]] && _files
}
if [[ "\${funcstack[1]}" == _shopstead ]]; then
  _shopstead "$@"
else
  compdef _shopstead shopstead
fi
`,
  fish: `# fish completion for shopstead
function __shopstead_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    for line in (shopstead complete -- $words "$current" 2>/dev/null)
        switch $line
            case ':0'
                __fish_complete_path "$current"
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c shopstead -f -a '(__shopstead_complete)'
`
}
