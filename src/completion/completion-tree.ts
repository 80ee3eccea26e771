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
  /** All that it takes, where that is known. */
  readonly values: readonly string[]
}

/** Which words to offer, of a program that takes more than it would offer. */
export interface Spelling {
  /** Of the names of commands or options that stand beside one another. */
  readonly names: (words: readonly string[]) => readonly string[]
  readonly values: (words: readonly string[]) => readonly string[]
}

export const AS_WRITTEN: Spelling = { names: (words) => words, values: (words) => words }

/** The command and all below it. */
export function describeTree(
  command: Command,
  spelling: Spelling,
  parentPath = '',
): CompletionNode[] {
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
        ...below.flatMap((child) => describeCommand(child, spelling)),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
          argChoices.map((word) => ({ word, description: '' })),
        ),
        ...options.flatMap((option) => describeOption(option, spelling)),
      ],
      valued: options.flatMap((option) => describeValue(option, spelling)),
    },
    ...below.flatMap((child) => describeTree(child, spelling, path)),
  ]
}

function describeCommand(command: Command, { names }: Spelling): Candidate[] {
  const description = firstLine(command.description())
  return names([command.name(), ...command.aliases()]).map((word) => ({ word, description }))
}

function describeOption(option: Option, { names }: Spelling): Candidate[] {
  const description = firstLine(option.description)
  return names(wordsOf(option)).map((word) => ({ word, description }))
}

/** In each spelling that somebody may have typed. */
function describeValue(option: Option, spelling: Spelling): ValuedOption[] {
  if (!option.required && !option.optional) return []
  const takesPath = /<(directory|file|path)>/.test(option.flags)
  const values = spelling.values(option.argChoices ?? [])
  return wordsOf(option).map((word) => ({ word, takesPath, values }))
}

/** An option has two long words when one is an alias of the other; a letter is short enough to type. */
function wordsOf({ short, long, flags }: Option): string[] {
  const words = [short, long].filter((word) => word?.startsWith('--') === true)
  return words.length > 0 ? words.map(String) : [short ?? flags]
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
