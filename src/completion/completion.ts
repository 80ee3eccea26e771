// Shell completion from a commander tree: words only, known when the script is printed, so that a Tab runs nothing.

import type { Command } from 'commander'
import { writeOut } from '../platform/standard-output.ts'
import { renderBashCompletion } from './completion-bash.ts'
import { renderFishCompletion } from './completion-fish.ts'
import { AS_WRITTEN, type CompletionNode, describeTree, type Spelling } from './completion-tree.ts'
import { renderZshCompletion } from './completion-zsh.ts'

type RenderCompletion = (program: string, nodes: readonly CompletionNode[]) => string

const RENDERERS: Readonly<Record<string, RenderCompletion>> = {
  bash: renderBashCompletion,
  zsh: renderZshCompletion,
  fish: renderFishCompletion,
}

/** Adds `completion <shell>`, which prints a script that completes all other commands of the program. */
export function addCompletionCommand(
  program: Command,
  write: (text: string) => unknown = writeOut,
  findSpelling: () => Spelling = () => AS_WRITTEN,
): void {
  const completion = program.command('completion')
  const shell = completion
    .createArgument('<shell>', 'the shell to complete in')
    .choices(Object.keys(RENDERERS))
  completion
    .description('print a completion script for bash, zsh or fish')
    .addArgument(shell)
    .addHelpText('after', exampleHelp(program.name()))
    .action(async (name: string) => {
      await write(renderCompletion(name, program, findSpelling()))
    })
}

function renderCompletion(shell: string, program: Command, spelling: Spelling): string {
  const render = RENDERERS[shell]
  return render === undefined ? '' : render(program.name(), describeTree(program, spelling))
}

function exampleHelp(program: string): string {
  return `
The script completes commands and options, but no hosts or ids.

Examples:
  # bash, in this shell
  source <(${program} completion bash)

  # bash, for good
  mkdir -p ~/.local/share/bash-completion/completions
  ${program} completion bash > ~/.local/share/bash-completion/completions/${program}

  # zsh, after compinit
  source <(${program} completion zsh)

  # fish, for good
  mkdir -p ~/.config/fish/completions
  ${program} completion fish > ~/.config/fish/completions/${program}.fish
`
}
