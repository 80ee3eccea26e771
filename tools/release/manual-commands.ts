// The commands of a program, in man(7), from the commander tree that its `--help` prints.

import type { Command, Option } from 'commander'
import { type Definition, renderHelpText } from './manual-page.ts'
import { definition, paragraph, section, subsection, usage } from './roff.ts'

/** The options of the program itself, or of one of its commands. */
export function describeOptions(command: Command): Definition[] {
  const help = command.createHelp()
  return help.visibleOptions(command).map((option: Option) => ({
    term: option.flags,
    // What a repeatable option begins with tells nobody anything.
    text: help.optionDescription(option).replace(' (default: [])', ''),
  }))
}

/** One subsection for each command, with all below it. */
export function renderCommands(program: Command): string {
  return (
    section('COMMANDS') +
    program.commands.map((child) => renderCommand(child, [program.name()])).join('')
  )
}

function renderCommand(command: Command, above: readonly string[]): string {
  const help = command.createHelp()
  const path = [...above, command.name()]
  const options = describeOptions(command).filter(({ term }) => term !== '-h, --help')
  const below = command.commands.map((child) => renderCommand(child, path))
  return [
    subsection(path.join(' ')),
    below.length > 0 ? '' : usage(help.commandUsage(command)),
    below.length > 0 && command.aliases().length > 0
      ? paragraph(
          `Also: ${command
            .aliases()
            .map((alias) => `\`${[...above, alias].join(' ')}\``)
            .join(', ')}.`,
        )
      : '',
    paragraph(asSentence(command.description())),
    ...command.registeredArguments.map((argument) =>
      definition(`<${argument.name()}>`, help.argumentDescription(argument)),
    ),
    ...options.map(({ term, text }) => definition(term, text)),
    renderHelpText(readTextAfter(command)),
    ...below,
  ].join('')
}

/** What `--help` prints below the lists. */
export function readTextAfter(command: Command): string {
  let printed = ''
  command.configureOutput({
    writeOut: (text) => {
      printed += text
    },
  })
  command.outputHelp()
  return printed.slice(command.helpInformation().length)
}

function asSentence(text: string): string {
  // The name of a program stays as it is typed.
  const first = /^svc\b/.test(text) ? text[0] : text[0]?.toUpperCase()
  return `${first ?? ''}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
