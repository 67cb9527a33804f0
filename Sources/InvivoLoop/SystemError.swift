internal import CUv

/// The English description of an errno value, in any locale.
func systemText(_ code: Int32) -> String {
    guard let text = iv_error_text(code) else { return "error \(code)" }
    return String(cString: text)
}
