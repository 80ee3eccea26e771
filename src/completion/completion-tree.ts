// A commander program as completion needs it: each command, how it is spelt, and what can follow it.

import type { Command, Option } from 'commander'

/** One command with all that can follow it. */
export interface CompletionNode {
  /** `svc token`: the words that lead here, by their first names. */
  readonly path: string
  /** The same with the aliases of its last word: `svc agente`, `svc agent`. */
  readonly spellings: readonly string[]
  readonly candidates: readonly Candidate[]
  readonly valued: readonly ValuedOption[]
}

export interface Candidate {
  readonly word: string
  readonly description: string
}

/** An option whose next word is its value. */
export interface ValuedOption {
  readonly word: string
  readonly takesPath: boolean
}

/** The command and all below it. */
export function describeTree(command: Command, parentPath = ''): CompletionNode[] {
  const spell = (name: string): string => `${parentPath} ${name}`.trimStart()
  const path = spell(command.name())
  const below = command
    .createHelp()
    .visibleCommands(command)
    // Commander makes `help` up for its help texts; what follows it is not worth a script.
    .filter((child) => child.name() !== 'help')
  const options = command.createHelp().visibleOptions(command)
  return [
    {
      path,
      spellings: [command.name(), ...command.aliases()].map(spell),
      candidates: [
        ...below.flatMap(describeCommand),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
          argChoices.map((word) => ({ word, description: '' })),
        ),
        ...options.flatMap(describeOption),
      ],
      valued: options.flatMap(describeValue),
    },
    ...below.flatMap((child) => describeTree(child, path)),
  ]
}

function describeCommand(command: Command): Candidate[] {
  const description = firstLine(command.description())
  return [command.name(), ...command.aliases()].map((word) => ({ word, description }))
}

function describeOption(option: Option): Candidate[] {
  const description = firstLine(option.description)
  return wordsOf(option).map((word) => ({ word, description }))
}

function describeValue(option: Option): ValuedOption[] {
  if (!option.required && !option.optional) return []
  const takesPath = /<(directory|file|path)>/.test(option.flags)
  return wordsOf(option).map((word) => ({ word, takesPath }))
}

/** An option has two long words when one is an alias of the other; a letter is short enough to type. */
function wordsOf({ short, long, flags }: Option): string[] {
  const words = [short, long].filter((word) => word?.startsWith('--') === true)
  return words.length > 0 ? words.map(String) : [short ?? flags]
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
