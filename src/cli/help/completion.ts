import { Argument } from 'commander'
import { AppError } from '../../errors.ts'
import type { ShopCommand, CommonOptions } from '../run.ts'
import { printAnswer } from '../terminal/output.ts'
import { addCommand } from '../run.ts'

/** Prints the completion script of a shell. The script calls `shopstead complete -- WORDS` when Tab is pressed. */
export function define(program: ShopCommand): void {
  const about = 'print a script that completes commands, options and their values'
  const command = addCommand(program, 'completion', about, 'completion bash > /etc/bash_completion.d/shopstead')
  command
    .addArgument(new Argument('<shell>').choices([...shells]))
    .option('--command <name>', 'complete a wrapper of this name', parseName, 'shopstead')
    .action(async (shell: Shell) => {
      const { json = false, command: name } = command.opts<CommonOptions & { command: string }>()
      const script = completionScript(shell, name)
      await printAnswer(command.terminal, { json: { shell, script }, human: script.trimEnd() }, json)
    })
}

/** A name that is safe in a script. @throws AppError USAGE */
function parseName(text: string): string {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(text)) throw new AppError('USAGE', '--command takes a name such as shop.')
  return text
}

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/**
 * The completion script of a shell, which calls `shopstead complete -- WORDS`, or a wrapper of another name. It passes
 * the words as they were typed and does not evaluate them. It needs only the shell, not bash-completion.
 */
function completionScript(shell: Shell, command: string): string {
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
