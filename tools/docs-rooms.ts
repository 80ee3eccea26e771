// The table of rooms in docs/architecture.md, written from tools/layers-rooms.ts.

import { ROOMS, type Room } from './layers-rooms.ts'

const TABLE = /(<!-- rooms: [^\n]* -->\n)[^]*?(<!-- rooms end -->)/

export function fillInRooms(markdown: string): string {
  const rows = ROOMS.map(
    (room) => `| ${shown(room.name)} | ${room.what} | ${describeImports(room)} |`,
  )
  const table = ['| room | what | may import |', '|---|---|---|', ...rows].join('\n')
  return markdown.replace(TABLE, (_, begin: string, end: string) => `${begin}${table}\n${end}`)
}

function describeImports({ imports, types = [] }: Room): string {
  const whole = imports.length === 0 ? 'no other room' : imports.map(shown).join(', ')
  return types.length === 0 ? whole : `${whole}; types of ${types.map(shown).join(', ')}`
}

function shown(name: string): string {
  return `\`${name}\``
}
