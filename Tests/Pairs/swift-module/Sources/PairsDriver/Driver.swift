import Invivo
@c(pairs_drive_swift)
public func drive(token: UnsafeRawPointer, component: UnsafePointer<CChar>) -> Int32 { 0 }
