// The commands of a page, for a test to type: fenced blocks whose language says on which machine, as in ```sh hub. What the page
// shows of their output stands right below, as ```text.

import { readFile } from 'node:fs/promises'

export interface TypedBlock {
  /** Of the section that the block is in, without its marks. */
  readonly heading: string
  readonly machine: string
  readonly text: string
  /** Undefined where the page shows nothing. */
  readonly shown: string | undefined
}

const HEADING_OR_BLOCK =
  /^## (?<heading>.+)$|^```sh (?<machine>\w+)\n(?<text>[^]*?)^```$(?:\n\n^```text\n(?<shown>[^]*?)^```$)?/gm

export async function readTypedBlocks(path: string): Promise<TypedBlock[]> {
  const page = await readFile(path, 'utf8')
  const blocks: TypedBlock[] = []
  let heading = ''
  for (const { groups = {} } of page.matchAll(HEADING_OR_BLOCK)) {
    const { machine, text = '', shown } = groups
    if (groups['heading'] !== undefined) heading = groups['heading']
    else if (machine !== undefined) blocks.push({ heading, machine, text, shown })
  }
  return blocks
}

/** `…` stands for anything in a line, and for any lines where it is alone; spaces say nothing. */
export function isAsShown(output: string, shown: string): boolean {
  const pattern = linesOf(shown)
    .map((line) => (line === '…' ? '(?:.*\n)*?' : `${literal(line).replaceAll('…', '.*')}\n`))
    .join('')
  const printed = linesOf(output).map((line) => `${line}\n`)
  return new RegExp(`^${pattern}$`).test(printed.join(''))
}

function linesOf(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().replaceAll(/ +/g, ' '))
}

function literal(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
}
