import type { CompletionNode, ValuedOption } from './completion-tree.ts'
import { functionNameOf, quoteWord } from './completion-words.ts'

/** Works from a directory of fpath, as `_svc`, and when it is sourced after compinit. */
export function renderZshCompletion(program: string, nodes: readonly CompletionNode[]): string {
  const name = functionNameOf(program)
  return `#compdef ${program}
${name}() {
  local at=${program}
  local -i index
  local -a candidates
  for ((index = 2; index < CURRENT; index++)); do
    case "$at \${words[index]}" in
${nodes.slice(1).map(renderStep).join('')}    esac
  done
  case "$at \${words[CURRENT - 1]}" in
${nodes.flatMap(({ path, valued }) => valued.map((option) => renderValue(path, option))).join('')}  esac
  case "$at" in
${nodes.map(renderCandidates).join('')}  esac
  _describe ${quoteWord(program)} candidates
}
if [[ "\${funcstack[1]}" == ${name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${program}
fi
`
}

function renderStep({ path, spellings }: CompletionNode): string {
  return `      (${spellings.map(quoteWord).join('|')}) at=${quoteWord(path)} ;;\n`
}

function renderValue(path: string, { word, takesPath, values }: ValuedOption): string {
  const offer = values.length > 0 ? `compadd -- ${values.map(quoteWord).join(' ')}; ` : ''
  const action = takesPath ? '_files; return' : `${offer}return`
  return `    (${quoteWord(`${path} ${word}`)}) ${action} ;;\n`
}

function renderCandidates({ path, candidates }: CompletionNode): string {
  const words = candidates.map(({ word, description }) =>
    // A colon ends the word; the description may have some.
    quoteWord(description === '' ? word : `${word}:${description}`),
  )
  return `    (${quoteWord(path)}) candidates=(${words.join(' ')}) ;;\n`
}
