// The commands of a page, for a test to type: fenced blocks whose language says on which machine, as in ```sh hub.

import { readFile } from 'node:fs/promises'

export interface TypedBlock {
  /** Of the section that the block is in, without its marks. */
  readonly heading: string
  readonly machine: string
  readonly text: string
}

const HEADING_OR_BLOCK = /^## (?<heading>.+)$|^```sh (?<machine>\w+)\n(?<text>[^]*?)^```$/gm

export async function readTypedBlocks(path: string): Promise<TypedBlock[]> {
  const page = await readFile(path, 'utf8')
  const blocks: TypedBlock[] = []
  let heading = ''
  for (const { groups = {} } of page.matchAll(HEADING_OR_BLOCK)) {
    const { machine, text = '' } = groups
    if (groups['heading'] !== undefined) heading = groups['heading']
    else if (machine !== undefined) blocks.push({ heading, machine, text })
  }
  return blocks
}
