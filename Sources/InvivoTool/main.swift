print("invivo")
