// What is missing of a form before anybody is asked, and who still wants a word. Pure.

export interface SealForm {
  readonly nome: string
  readonly agents: string
  readonly role: string
  readonly where: string
  readonly hasText: boolean
  readonly hasFile: boolean
}

export type SealFault = 'noName' | 'noWhom' | 'bothWhom' | 'noSecret' | 'twoSecrets'

/** `isNext`: of a cargo that has its name and its hosts. */
export function findSealFault(form: SealForm, isNext: boolean): SealFault | undefined {
  if (!isNext) {
    if (form.nome.trim() === '') return 'noName'
    const isNamed = splitNames(form.agents).length > 0 || form.role.trim() !== ''
    if (!isNamed && form.where.trim() === '') return 'noWhom'
    if (isNamed && form.where.trim() !== '') return 'bothWhom'
  }
  if (!form.hasText && !form.hasFile) return 'noSecret'
  return form.hasText && form.hasFile ? 'twoSecrets' : undefined
}

export function splitNames(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))]
}

/** Undefined until each fingerprint was typed as it is shown; then all of them. */
export function readVouched(
  shown: readonly string[],
  typed: Readonly<Record<string, string>>,
): readonly string[] | undefined {
  const isComplete = shown.every((fingerprint) => typed[fingerprint]?.trim() === fingerprint)
  return isComplete ? [...new Set(shown)] : undefined
}
