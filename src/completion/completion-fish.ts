import type { Candidate, CompletionNode, ValuedOption } from './completion-tree.ts'
import { functionNameOf } from './completion-words.ts'

export function renderFishCompletion(program: string, nodes: readonly CompletionNode[]): string {
  const name = `_${functionNameOf(program)}_at`
  return `# fish completion for ${program}
function ${name}
    set -l at ${program}
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        switch "$at $word"
${nodes.slice(1).map(renderStep).join('')}        end
    end
    test "$at" = "$argv[1]"
end
complete -c ${program} -f
${nodes.map((node) => renderCandidates(program, name, node)).join('')}`
}

function renderStep({ path, spellings }: CompletionNode): string {
  return `            case ${spellings.map(quote).join(' ')}\n                set at ${quote(path)}\n`
}

function renderCandidates(program: string, name: string, node: CompletionNode): string {
  const start = `complete -c ${program} -n ${quote(`${name} ${quote(node.path)}`)}`
  const render = ({ word, description }: Candidate): string => {
    const say = description === '' ? '' : ` -d ${quote(description)}`
    if (!word.startsWith('--')) return `${start} -a ${quote(word)}${say}\n`
    const value = node.valued.find((option) => option.word === word)
    const argument = value === undefined ? '' : renderArgument(value)
    return `${start} -l ${word.slice(2)}${argument}${say}\n`
  }
  return node.candidates.map(render).join('')
}

function renderArgument({ takesPath, values }: ValuedOption): string {
  if (takesPath) return ' -r -F'
  return values.length === 0 ? ' -x' : ` -x -a ${quote(values.join(' '))}`
}

/** In single quotes, where fish takes backslashes. */
function quote(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
