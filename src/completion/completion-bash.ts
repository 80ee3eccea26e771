import type { CompletionNode, ValuedOption } from './completion-tree.ts'
import { functionNameOf, quoteWord } from './completion-words.ts'

/** For bash 3.2 and later. The words so far lead to a command; what can follow it is offered. */
export function renderBashCompletion(program: string, nodes: readonly CompletionNode[]): string {
  const name = functionNameOf(program)
  return `# bash completion for ${program}
${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local at=${program} candidates='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$at \${COMP_WORDS[index]}" in
${nodes.slice(1).map(renderStep).join('')}    esac
  done
  case "$at $previous" in
${nodes.flatMap(({ path, valued }) => valued.map((option) => renderValue(path, option))).join('')}  esac
  case "$at" in
${nodes.map(renderCandidates).join('')}  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -F ${name} ${program}
`
}

function renderStep({ path, spellings }: CompletionNode): string {
  return `      ${spellings.map(quoteWord).join(' | ')}) at=${quoteWord(path)} ;;\n`
}

function renderValue(path: string, { word, takesPath, values }: ValuedOption): string {
  const pattern = quoteWord(`${path} ${word}`)
  if (values.length > 0) {
    const words = quoteWord(values.join(' '))
    return `    ${pattern})
      COMPREPLY=($(compgen -W ${words} -- "$current"))
      return
      ;;
`
  }
  if (!takesPath) return `    ${pattern}) return ;;\n`
  return `    ${pattern})
      local IFS=$'\\n'
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$current"))
      return
      ;;
`
}

function renderCandidates({ path, candidates }: CompletionNode): string {
  const words = candidates.map(({ word }) => word).join(' ')
  return `    ${quoteWord(path)}) candidates=${quoteWord(words)} ;;\n`
}
