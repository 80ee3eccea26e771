/** What is wrong with an export, and with which of its entries where one is known. */
export class ExportFault extends Error {
  readonly entry: number | undefined
  constructor(reason: string, entry?: number) {
    super(reason)
    this.entry = entry
  }
}
