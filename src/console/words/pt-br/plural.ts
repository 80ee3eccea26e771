/** `1 agente está`, `1.204 agentes estão`. */
export function plural(count: number, one: string, many: string): string {
  return `${new Intl.NumberFormat('pt-BR').format(count)} ${count === 1 ? one : many}`
}
