// The entries that are no routine, by their numbers: in a large log one in a thousand. A step of migrations.ts.

/** As protocol/routine-events.ts had them when this step was made; a test holds the two against each other. */
export const ROUTINE_OF_INDEX = [
  'certificate_issued',
  'cert_renewed',
  'entrega_instalada',
  'entrega_entregue',
  'manifest_pulled',
  'alvo_aplicado',
] as const

/** SQLite uses the index for a query that says this word by word. */
export const IS_NOTABLE: string = `tipo_evento NOT IN (${ROUTINE_OF_INDEX.map((type) => `'${type}'`).join(', ')})`

export const NOTABLE_ENTRIES: string = `
CREATE INDEX eventos_fora_da_rotina ON eventos (seq) WHERE ${IS_NOTABLE};
`
