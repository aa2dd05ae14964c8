package transport_test
import ("testing";"time";"fmt";"context";"github.com/chunkwire/chunkwire/transport")
func TestDbg(t *testing.T){
 s:=listen(t, transport.Config{})
 go func(){ time.Sleep(2*time.Second); fmt.Printf("%+v\n", s.Stats()) }()
 ctx,c:=context.WithTimeout(background,3*time.Second); defer c()
 p,err:=transport.Dial(ctx,"udp4",s.Addr().String(),transport.Config{})
 fmt.Println(p,err)
 if p!=nil { a,err:=s.Accept(ctx); fmt.Println(a,err); fmt.Printf("%+v\n", p.Stats()) }
}
