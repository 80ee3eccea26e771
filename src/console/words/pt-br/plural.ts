/** `1 agente está`, `1.204 agentes estão`; de um número, ou de um já formatado. */
export function plural(count: number | string, one: string, many: string): string {
  const text = typeof count === 'string' ? count : new Intl.NumberFormat('pt-BR').format(count)
  return `${text} ${text === '1' ? one : many}`
}
